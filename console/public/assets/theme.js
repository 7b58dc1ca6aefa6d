// Runs before the first paint, so that no page flashes in the other theme. The system theme needs no attribute.
try {
  const theme = localStorage.getItem('atrium.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage the page follows the system theme.
}
