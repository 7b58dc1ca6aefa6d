import './styles/tokens.css'
import './styles/base.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { takeScopeFromAddress } from './scope.ts'

takeScopeFromAddress()
const root = document.querySelector('#root')
if (!root) throw new Error('the page has no place for the console')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
