import type { ReactNode } from 'react'
import { Avatar } from '../../ui/data/avatar.tsx'
import styles from './connector-logo.module.css'

// Drawings of what each service is used for, in a grid of 24 pixels. They are not the marks of the providers, which would
// need their permission.
const drawings: Record<string, ReactNode> = {
  a2a: (
    <>
      <circle cx="6" cy="12" r="3" />
      <circle cx="18" cy="12" r="3" />
      <path d="M8.5 9.5a6 6 0 0 1 7 0M15.5 14.5a6 6 0 0 1-7 0" />
    </>
  ),
  airtable: (
    <>
      <rect x="4" y="5" width="16" height="14" rx="2" />
      <path d="M4 10h16M10 10v9" />
    </>
  ),
  discord: (
    <>
      <path d="M5 6h14v9h-8l-4 4v-4H5z" />
      <path d="M9.5 10.5h.01M14.5 10.5h.01" />
    </>
  ),
  github: (
    <>
      <circle cx="7" cy="6" r="2" />
      <circle cx="7" cy="18" r="2" />
      <circle cx="17" cy="8" r="2" />
      <path d="M7 8v8M17 10c0 4-10 2-10 6" />
    </>
  ),
  gmail: (
    <>
      <rect x="4" y="6" width="16" height="12" rx="2" />
      <path d="m4.5 7.5 7.5 6 7.5-6" />
    </>
  ),
  'google-drive': (
    <>
      <path d="M4 7h6l2 2h8v9H4z" />
      <path d="M4 12h16" />
    </>
  ),
  http: <path d="M9 5c-3 0-1 6-4 7 3 1 1 7 4 7M15 5c3 0 1 6 4 7-3 1-1 7-4 7" />,
  hubspot: (
    <>
      <circle cx="9" cy="9" r="3" />
      <path d="M4 19c0-3 2-5 5-5s5 2 5 5M16 7a3 3 0 0 1 0 5M17 15c2 .5 3 2 3 4" />
    </>
  ),
  jira: (
    <>
      <rect x="5" y="4" width="14" height="16" rx="2" />
      <path d="m8 9 1 1 2-2M8 15l1 1 2-2M14 9.5h2M14 15.5h2" />
    </>
  ),
  linear: (
    <>
      <circle cx="12" cy="12" r="7.5" />
      <path d="M12 12V7.5A4.5 4.5 0 0 1 16.5 12z" />
    </>
  ),
  mcp: <path d="M9 4v5M15 4v5M6 9h12v3a6 6 0 0 1-12 0zM12 18v3" />,
  notion: (
    <>
      <path d="M6 4h9l3 3v13H6z" />
      <path d="M9.5 10h5M9.5 13h5M9.5 16h3" />
    </>
  ),
  slack: <path d="M10 4 8 20M16 4l-2 16M5 9h15M4 15h15" />,
  stripe: (
    <>
      <rect x="4" y="6" width="16" height="12" rx="2" />
      <path d="M4 10h16M7 14.5h3" />
    </>
  ),
  telegram: (
    <>
      <rect x="5" y="8" width="14" height="10" rx="3" />
      <path d="M12 8V4M9.5 12.5v1M14.5 12.5v1M3 12v3M21 12v3" />
    </>
  ),
  twilio: (
    <path d="M6 4h3l1.5 4L8.5 9.5a11 11 0 0 0 6 6L16 13.5l4 1.5v3a2 2 0 0 1-2 2A14 14 0 0 1 4 6a2 2 0 0 1 2-2z" />
  ),
  web: (
    <>
      <circle cx="12" cy="12" r="8" />
      <path d="M4 12h16M12 4c3 2.5 3 13.5 0 16M12 4c-3 2.5-3 13.5 0 16" />
    </>
  ),
}

/** A drawing for a connector, or its initials. */
export const ConnectorLogo = ({ slug, name }: { slug: string; name: string }) => {
  const drawing = Object.hasOwn(drawings, slug) ? drawings[slug] : undefined
  if (drawing === undefined) return <Avatar name={name} square />
  return (
    <svg className={styles['logo']} viewBox="0 0 24 24" data-slug={slug} aria-hidden="true">
      {drawing}
    </svg>
  )
}
