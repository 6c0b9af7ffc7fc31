//! Numbers written as text: `"$radius"`, `"2 * $radius + 0.1"`. The four operations, signs, parentheses, and named variables.

/// Deepest nesting of parentheses and signs.
const MAX_DEPTH: usize = 50;
/// Longest expression (bytes).
const MAX_LENGTH: usize = 1000;

/// Why an expression has no value, and the byte in it where that shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExpressionError {
    pub message: String,
    pub at: usize,
    /// Name of a variable that does not exist.
    pub unknown: Option<String>,
}

/// Whether a string is meant as an expression: it names a variable.
pub(crate) fn is_expression(text: &str) -> bool {
    text.contains('$')
}

/// Value of an expression; `variable` gives the value of a name, or `Err` with a message when it has none.
pub(crate) fn evaluate(
    text: &str,
    variable: &mut dyn FnMut(&str) -> Result<Option<f64>, String>,
) -> Result<f64, ExpressionError> {
    if text.len() > MAX_LENGTH {
        let message = format!("an expression has at most {MAX_LENGTH} characters");
        return Err(ExpressionError { message, at: 0, unknown: None });
    }
    let mut parser = Parser { text, at: 0, variable };
    let value = parser.sum(0)?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.error("expected `+`, `-`, `*`, `/` or the end of the expression"));
    }
    if value.is_finite() {
        Ok(value)
    } else {
        Err(ExpressionError {
            message: format!("the value of this expression is {value}, which is not finite"),
            at: 0,
            unknown: None,
        })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    variable: &'a mut dyn FnMut(&str) -> Result<Option<f64>, String>,
}

impl Parser<'_> {
    fn error(&self, message: impl Into<String>) -> ExpressionError {
        ExpressionError { message: message.into(), at: self.at, unknown: None }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes `c` if it is next.
    fn take(&mut self, c: char) -> bool {
        self.space();
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn sum(&mut self, depth: usize) -> Result<f64, ExpressionError> {
        let mut value = self.product(depth)?;
        loop {
            if self.take('+') {
                value += self.product(depth)?;
            } else if self.take('-') {
                value -= self.product(depth)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self, depth: usize) -> Result<f64, ExpressionError> {
        let mut value = self.factor(depth)?;
        loop {
            if self.take('*') {
                value *= self.factor(depth)?;
            } else if self.take('/') {
                self.space();
                let at = self.at;
                let divisor = self.factor(depth)?;
                if divisor == 0.0 {
                    return Err(ExpressionError { message: "division by zero".into(), at, unknown: None });
                }
                value /= divisor;
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self, depth: usize) -> Result<f64, ExpressionError> {
        if depth > MAX_DEPTH {
            return Err(self.error("parentheses are nested too deeply"));
        }
        if self.take('-') {
            return Ok(-self.factor(depth + 1)?);
        }
        if self.take('+') {
            return self.factor(depth + 1);
        }
        if self.take('(') {
            let value = self.sum(depth + 1)?;
            return if self.take(')') { Ok(value) } else { Err(self.error("expected `)`")) };
        }
        if self.take('$') {
            return self.variable();
        }
        self.number()
    }

    fn variable(&mut self) -> Result<f64, ExpressionError> {
        let start = self.at;
        let name: String = self.rest().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if name.is_empty() {
            return Err(self.error("expected the name of a variable after `$`"));
        }
        self.at += name.len();
        match (self.variable)(&name) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(ExpressionError {
                message: format!("there is no variable `{name}`"),
                at: start - 1,
                unknown: Some(name),
            }),
            Err(message) => Err(ExpressionError { message, at: start - 1, unknown: None }),
        }
    }

    fn number(&mut self) -> Result<f64, ExpressionError> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut length = digits(0);
        if bytes.get(length) == Some(&b'.') {
            length += 1 + digits(length + 1);
        }
        if length > 0 && matches!(bytes.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        match self.rest()[..length].parse::<f64>() {
            Ok(value) => {
                self.at += length;
                Ok(value)
            }
            Err(_) => Err(self.error("expected a number, a variable such as `$radius`, or `(`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> Result<f64, ExpressionError> {
        evaluate(text, &mut |name| match name {
            "a" => Ok(Some(2.0)),
            "b_2" => Ok(Some(-0.5)),
            "loop" => Err("cycle".into()),
            _ => Ok(None),
        })
    }

    #[test]
    fn follows_the_rules_of_arithmetic() {
        assert_eq!(value("$a"), Ok(2.0));
        assert_eq!(value(" 1 + $a*3 - 4/2 "), Ok(5.0));
        assert_eq!(value("-(1+$a)*-$b_2"), Ok(-1.5));
        assert_eq!(value("8/4/2"), Ok(1.0));
        assert_eq!(value("1-2-3"), Ok(-4.0));
        assert_eq!(value("1.5e2 + .5"), Ok(150.5));
    }

    #[test]
    fn says_where_it_went_wrong() {
        assert_eq!(value("1 + ").unwrap_err().at, 4);
        assert_eq!(value("2 * $wrong").unwrap_err().unknown.as_deref(), Some("wrong"));
        assert_eq!(value("2 * $wrong").unwrap_err().at, 4);
        assert_eq!(value("1/($a-2)").unwrap_err().message, "division by zero");
        assert_eq!(value("$loop").unwrap_err().message, "cycle");
        assert!(value("1e300*1e300*$a").unwrap_err().message.contains("not finite"));
        assert!(value(&"(".repeat(900)).unwrap_err().message.contains("deeply"));
        assert!(value(&"-".repeat(900)).unwrap_err().message.contains("deeply"));
        assert_eq!(value("$a 3").unwrap_err().at, 3);
    }

    proptest! {
        #[test]
        fn never_panics(text in "[-+*/()$ab_0-9.eE µ]{0,40}") {
            let _ = value(&text);
        }
    }
}
