import './styles/tokens.css'
import './styles/base.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { startLanguage } from './i18n/language.ts'
import { readScopeFromUrl } from './scope.ts'

readScopeFromUrl()
await startLanguage()
const root = document.querySelector('#root')
if (!root) throw new Error('The page has no #root element')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
