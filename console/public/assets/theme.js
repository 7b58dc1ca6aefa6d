// Before the first paint, so that no page flashes in the other colours. A choice of the system's own needs nothing.
try {
  const theme = localStorage.getItem('atrium.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage is off: the system decides.
}
