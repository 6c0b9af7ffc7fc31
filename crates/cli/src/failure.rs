//! How a command fails: with what exit code and what message.

use crate::terminal;
use std::process::ExitCode;

/// A command that did not do what was asked.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// Something is wrong with what the user gave: exit code 2.
    pub fn bad_input(error: impl ToString) -> Self {
        Self { code: 2, message: error.to_string() }
    }

    /// The physics, a verification or the machine failed: exit code 1.
    pub fn failed(error: impl ToString) -> Self {
        Self { code: 1, message: error.to_string() }
    }

    /// Failed in a way that has been told already.
    pub fn silent(code: u8) -> Self {
        Self { code, message: String::new() }
    }

    /// Exit code.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// What is told to the user.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Tells the user on stderr.
    pub fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            let label = terminal::err_style().red().bold().apply_to("error:");
            terminal::warn(&format!("{label} {}", self.message));
        }
        ExitCode::from(self.code)
    }
}
