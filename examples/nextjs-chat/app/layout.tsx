import type { Metadata } from 'next'
import type { ReactNode } from 'react'
import './style.css'

export const metadata: Metadata = { title: 'Chat' }

const Layout = ({ children }: { children: ReactNode }) => (
  <html lang="en">
    <body>{children}</body>
  </html>
)
export default Layout
