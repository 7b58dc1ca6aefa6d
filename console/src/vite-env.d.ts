/// <reference types="vite/client" />

import 'react'

declare module 'react' {
  interface InputHTMLAttributes<T> {
    /** Makes a file field choose folders; every browser has it. */
    webkitdirectory?: string
  }
}
