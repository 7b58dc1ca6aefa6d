import { i18n } from '@lingui/core'
import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { api } from '../../api.ts'
import styles from './billing.module.css'

const documentUrl = (path: string, format: 'html' | 'pdf'): string =>
  api.url(`${path}/document`, { format, language: i18n.locale })

export const receiptPath = (id: string): string => `/billing/receipts/${encodeURIComponent(id)}`

/** The page in a new tab, and the PDF file. `name` says which, for screen readers. */
export const DocumentLinks = ({ path, name }: { path: string; name: string }) => (
  <span className={styles['documents']}>
    <a href={documentUrl(path, 'html')} target="_blank" rel="noreferrer" aria-label={t`View ${name}`}>
      <Trans>View</Trans>
    </a>
    <a href={documentUrl(path, 'pdf')} download aria-label={t`Download ${name} as PDF`}>
      <Trans>PDF</Trans>
    </a>
  </span>
)
