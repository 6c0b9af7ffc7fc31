//! Files that are either whole or absent: written beside their place, synced, then renamed over it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {cause}{}", path.display(), hint(cause))]
pub struct StorageError {
    /// What was being done: `"write"`, `"read"`, `"create"`.
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// What the operating system said.
    pub cause: io::Error,
}

impl StorageError {
    /// For `map_err`: remembers what was being done to which path.
    pub fn doing(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self { action, path: path.to_owned(), cause }
    }

    /// Would the same action on the same path fail for another run too (wrong path, no permission), as opposed to a disk that filled up?
    pub fn is_bad_input(&self) -> bool {
        use io::ErrorKind::{
            AlreadyExists, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
        };
        matches!(
            self.cause.kind(),
            AlreadyExists | IsADirectory | NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem
        )
    }
}

fn hint(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space there or choose another folder with --out"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder you may write to with --out"
        }
        _ => "",
    }
}

/// Writes `path` through `fill`: after this returns `Ok` the whole file is on disk under its name, after an error whatever was there before still is.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), StorageError> {
    let temporary = temporary_name(path);
    let written = write_and_sync(&temporary, fill).and_then(|()| fs::rename(&temporary, path));
    if let Err(cause) = written {
        // The half-written neighbour is of no use to anyone; failing to remove it changes nothing for the caller.
        let _ = fs::remove_file(&temporary);
        return Err(StorageError { action: "write", path: path.to_owned(), cause });
    }
    sync_folder_of(path).map_err(StorageError::doing("sync the folder of", path))
}

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>, StorageError> {
    fs::read(path).map_err(StorageError::doing("read", path))
}

/// Is this the name of a half-written file that a killed process left behind?
pub fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with('.') && name.ends_with(".part"))
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".part");
    path.with_file_name(name)
}

fn write_and_sync(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 16, fault::Guarded { path, file: File::create(path)? });
    fill(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.file.sync_all()
}

/// A rename is durable once its folder is synced; not every platform can open a folder, so this is for Unix only.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Lets tests fill up the disk: a budget of bytes for everything written below a folder.
pub(crate) mod fault {
    use std::io::{self, Write};
    use std::path::Path;

    /// A file whose writes fail when a test has set a budget and it is spent.
    pub struct Guarded<'a, F> {
        #[cfg_attr(not(test), expect(dead_code, reason = "only the budget of a test looks at the path"))]
        pub path: &'a Path,
        pub file: F,
    }

    impl<F: Write> Write for Guarded<'_, F> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            #[cfg(test)]
            let bytes = budget::grant(self.path, bytes)?;
            self.file.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.file.flush()
        }
    }

    #[cfg(test)]
    pub mod budget {
        use std::io;
        use std::path::{Path, PathBuf};
        use std::sync::Mutex;

        static BUDGETS: Mutex<Vec<(PathBuf, usize)>> = Mutex::new(Vec::new());

        /// Files below `folder` may take `bytes` more bytes.
        pub fn set(folder: &Path, bytes: usize) {
            let mut budgets = BUDGETS.lock().unwrap();
            budgets.retain(|(path, _)| path != folder);
            budgets.push((folder.to_owned(), bytes));
        }

        pub fn grant<'b>(path: &Path, bytes: &'b [u8]) -> io::Result<&'b [u8]> {
            let mut budgets = BUDGETS.lock().unwrap();
            let Some((_, left)) = budgets.iter_mut().find(|(folder, _)| path.starts_with(folder)) else {
                return Ok(bytes);
            };
            if *left == 0 && !bytes.is_empty() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let granted = bytes.len().min(*left);
            *left -= granted;
            Ok(&bytes[..granted])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        write_atomically(&path, |out| out.write_all(b"old")).unwrap();
        fault::budget::set(folder.path(), 1000);
        let error = write_atomically(&path, |out| out.write_all(&[7; 100_000])).unwrap_err();
        assert_eq!(error.cause.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().contains("--out"), "{error}");
        assert!(!error.is_bad_input());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomically(&folder.path().join("no/such/file"), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("no/such/file"), "{error}");
        assert!(error.is_bad_input());
    }
}
