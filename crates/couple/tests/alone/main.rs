//! Solids with nothing else in the world: schemes of integration, obstacles and self-contact.

mod contact;
mod schemes;
