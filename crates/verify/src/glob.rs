//! Patterns of names: `*`, `**`, `?`, `[a-z]`, `[!a]`, `{one,two}`. Written here because the usual crate brings a regular-expression engine,
//! a tenth of the program's build time, to match a few dozen names.

use std::fmt;

/// Most alternatives that the braces of one pattern may stand for.
const MAX_ALTERNATIVES: usize = 256;

/// A pattern, ready to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    alternatives: Vec<Vec<Token>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Literal(char),
    /// `?`: one character, not a separator if those are literal.
    One,
    /// `*`: any characters, not separators if those are literal.
    Run,
    /// `**`: any characters.
    Everything,
    /// `**/`: any number of whole folders, also none.
    Folders,
    /// `[...]`: one of these ranges, or none of them.
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

/// A pattern that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlobError {
    /// `[` without `]`.
    OpenClass,
    /// `{` without `}`, `}` without `{`, or braces in braces.
    Braces,
    /// Braces that stand for too many patterns.
    TooMany,
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenClass => "a `[` is not closed by `]`",
            Self::Braces => "braces must be closed and cannot be nested",
            Self::TooMany => "the braces stand for too many patterns",
        })
    }
}

impl std::error::Error for GlobError {}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Brackets or braces that do not close.
    pub fn new(pattern: &str) -> Result<Self, GlobError> {
        let alternatives = expand(pattern)?.iter().map(|text| tokens(text)).collect::<Result<_, _>>()?;
        Ok(Self { alternatives })
    }

    /// Does the whole of `name` match, where `*` and `?` stand for any character?
    pub fn is_match(&self, name: &str) -> bool {
        self.matches(name, false)
    }

    /// Does the whole of `path` match, where only `**` crosses a `/`?
    pub fn is_path_match(&self, path: &str) -> bool {
        self.matches(path, true)
    }

    fn matches(&self, name: &str, literal_separator: bool) -> bool {
        let name: Vec<char> = name.chars().collect();
        self.alternatives.iter().any(|tokens| matches(tokens, &name, literal_separator))
    }
}

/// Replaces `{a,b}` by its alternatives.
fn expand(pattern: &str) -> Result<Vec<String>, GlobError> {
    let mut found = vec![String::new()];
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, after) = rest.split_at(at);
        if after.starts_with('}') {
            return Err(GlobError::Braces);
        }
        let end = after.find('}').ok_or(GlobError::Braces)?;
        let inside = &after[1..end];
        if inside.contains('{') {
            return Err(GlobError::Braces);
        }
        let choices: Vec<&str> = inside.split(',').collect();
        if found.len() * choices.len() > MAX_ALTERNATIVES {
            return Err(GlobError::TooMany);
        }
        found = found
            .iter()
            .flat_map(|start| choices.iter().map(move |choice| format!("{start}{before}{choice}")))
            .collect();
        rest = &after[end + 1..];
    }
    found.iter_mut().for_each(|text| text.push_str(rest));
    Ok(found)
}

fn tokens(pattern: &str) -> Result<Vec<Token>, GlobError> {
    let mut tokens = Vec::new();
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        tokens.push(match c {
            '?' => Token::One,
            '*' if rest.next_if_eq(&'*').is_some() => {
                while rest.next_if_eq(&'*').is_some() {}
                if rest.next_if_eq(&'/').is_some() { Token::Folders } else { Token::Everything }
            }
            '*' => Token::Run,
            '[' => class(&mut rest)?,
            c => Token::Literal(c),
        });
    }
    Ok(tokens)
}

fn class(rest: &mut std::iter::Peekable<std::str::Chars>) -> Result<Token, GlobError> {
    let negated = rest.next_if(|c| matches!(c, '!' | '^')).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        let start = rest.next().ok_or(GlobError::OpenClass)?;
        if start == ']' && !ranges.is_empty() {
            return Ok(Token::Class { negated, ranges });
        }
        let end = match rest.next_if_eq(&'-') {
            None => start,
            // A `-` before the closing bracket is itself.
            Some(_) if rest.peek() == Some(&']') => {
                ranges.push(('-', '-'));
                start
            }
            Some(_) => rest.next().ok_or(GlobError::OpenClass)?,
        };
        ranges.push((start, end));
    }
}

/// Which prefixes of the name the tokens so far can match, moved on token by token: linear in both lengths, whatever the pattern.
fn matches(tokens: &[Token], name: &[char], literal_separator: bool) -> bool {
    let mut reach = vec![false; name.len() + 1];
    reach[0] = true;
    let crosses = |c: char| !(literal_separator && c == '/');
    for token in tokens {
        match token {
            Token::Run | Token::Everything => {
                for i in 0..name.len() {
                    reach[i + 1] |= reach[i] && (*token == Token::Everything || crosses(name[i]));
                }
            }
            Token::Folders => {
                let mut inside = false;
                for i in 0..name.len() {
                    inside |= reach[i];
                    reach[i + 1] |= inside && name[i] == '/';
                }
            }
            one => {
                for i in (0..name.len()).rev() {
                    let fits = match one {
                        Token::Literal(c) => name[i] == *c,
                        Token::Class { negated, ranges } => {
                            crosses(name[i])
                                && negated != &ranges.iter().any(|&(a, b)| (a..=b).contains(&name[i]))
                        }
                        _ => crosses(name[i]),
                    };
                    reach[i + 1] = reach[i] && fits;
                }
                reach[0] = false;
            }
        }
    }
    reach[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(pattern: &str, text: &str) -> bool {
        Glob::new(pattern).unwrap().is_match(text)
    }

    fn path(pattern: &str, text: &str) -> bool {
        Glob::new(pattern).unwrap().is_path_match(text)
    }

    #[test]
    fn wildcards() {
        assert!(
            name("rigid/*", "rigid/stack") && name("*", "rigid/stack") && name("r?gid/*ck", "rigid/stack")
        );
        assert!(!name("rigid/*", "fluid/x") && !name("?", "") && !name("a", "ab") && !name("ab", "a"));
        assert!(name("", "") && name("**", "") && name("a*b*c", "axxbyybc") && !name("a*b*c", "axxbyyb"));
    }

    #[test]
    fn paths() {
        assert!(path("scenes/*.toml", "scenes/a.toml") && !path("scenes/*.toml", "scenes/bad/a.toml"));
        assert!(path("scenes/**/*.toml", "scenes/bad/a.toml") && path("scenes/**/*.toml", "scenes/a.toml"));
        assert!(!path("scenes?a.toml", "scenes/a.toml") && path("**", "a/b/c"));
        assert!(
            path("**/a.toml", "a.toml") && path("**/a.toml", "x/y/a.toml") && !path("**/a.toml", "xa.toml")
        );
        assert!(
            path("s/**/a.toml", "s/x/a.toml")
                && !path("s/**/a.toml", "s/xa.toml")
                && !path("s/**/a", "s/x/ba")
        );
    }

    #[test]
    fn classes_and_braces() {
        assert!(name("x[0-9]", "x7") && !name("x[0-9]", "xa") && name("x[!0-9]", "xa") && name("[]]", "]"));
        assert!(name("x[a-]", "x-") && name("x[a-]", "xa") && !name("x[a-]", "xb"));
        assert!(name("{rigid,fluid}/{a,b}*", "fluid/bx") && !name("{rigid,fluid}/*", "solid/x"));
    }

    #[test]
    fn unreadable_patterns() {
        assert_eq!(Glob::new("a[b"), Err(GlobError::OpenClass));
        assert_eq!(Glob::new("a["), Err(GlobError::OpenClass));
        for braces in ["{a", "a}", "{a{b}}", "}{"] {
            assert_eq!(Glob::new(braces), Err(GlobError::Braces), "{braces}");
        }
        assert_eq!(Glob::new(&"{a,b}".repeat(9)), Err(GlobError::TooMany));
    }

    #[test]
    fn many_stars_stay_linear() {
        assert!(!name(&format!("{}b", "a*".repeat(200)), &"a".repeat(5000)));
    }
}
