// Dark or light: as the system says until a person chooses.

const KEY = "splashdown-theme";
const listeners = new Set<() => void>();
const system = window.matchMedia("(prefers-color-scheme: light)");

export function currentTheme(): "dark" | "light" {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {
    // Storage may be forbidden; the system's choice has to do.
  }
  return chosen === "dark" || chosen === "light" ? chosen : system.matches ? "light" : "dark";
}

function apply(): void {
  document.documentElement.dataset.theme = currentTheme();
  listeners.forEach((listener) => listener());
}

export function toggleTheme(): void {
  try {
    localStorage.setItem(KEY, currentTheme() === "dark" ? "light" : "dark");
  } catch {
    // Stays as it is.
  }
  apply();
}

export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

system.addEventListener("change", apply);
apply();
