/// <reference types="vite/client" />

import 'react'

declare module 'react' {
  interface InputHTMLAttributes<T> {
    /** Lets a file input select folders; supported by every browser but missing in React's types. */
    webkitdirectory?: string
  }
}
