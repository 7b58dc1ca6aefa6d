import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Network } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { Button } from '../../../ui/forms/button.tsx'
import { CodeBlock } from '../../../ui/forms/code-block.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import styles from '../files.module.css'

const address = (): string => `${location.origin}/dav/`

/** The address of the files for file managers. Phones, which have no network drives, do not show it. */
export const NetworkDrive = () => {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" className={styles['trash']} onClick={() => setOpen(true)}>
        <Network aria-hidden="true" />
        <Trans>Network drive</Trans>
      </button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title={t`Connect as network drive`}
        description={t`Open these files in Finder, Windows Explorer or any other program that supports WebDAV.`}
        footer={
          <Button variant="primary" onClick={() => setOpen(false)}>
            <Trans>Done</Trans>
          </Button>
        }
      >
        <CodeBlock text={address()} label={t`Copy address`} />
        <p>
          <Trans>
            Use an{' '}
            <Link className="link" to="/settings/api-keys">
              API key
            </Link>{' '}
            as the password. The user name can be anything.
          </Trans>
        </p>
      </Dialog>
    </>
  )
}
