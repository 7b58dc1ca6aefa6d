import './styles/tokens.css'
import './styles/base.css'
import { startTransition, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { startLanguage } from './i18n/language.ts'
import { readScopeFromUrl } from './scope.ts'

readScopeFromUrl()
await startLanguage()
const root = document.querySelector('#root')
if (!root) throw new Error('The page has no #root element')
// In a transition, React renders in tasks of at most 5 ms, so that a phone can paint in between.
startTransition(() => {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
})
