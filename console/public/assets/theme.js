// Runs before the first paint, so that no page flashes in the other theme. The system theme needs no attribute.
try {
  const theme = localStorage.getItem('atrium.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage the page follows the system theme.
}
// The frame that index.html shows until the scripts have loaded is that of the pages behind the sign-in.
if (/^\/(?:sign-in|authorize)(?:\/|$)/.test(location.pathname)) document.documentElement.dataset.start = 'empty'
