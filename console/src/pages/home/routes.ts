import type { RouteObject } from 'react-router'
import { Home } from './home.tsx'

/** Not `lazy`: most people open Home first, and its script is small. */
export const homeRoutes: RouteObject[] = [{ index: true, Component: Home }]
