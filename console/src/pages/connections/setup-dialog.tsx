import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { ConnectorEntry } from '@atrium/client'
import { Button } from '../../ui/forms/button.tsx'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import styles from './connections.module.css'

/** The redirect URI of OAuth clients, at the origin that people use. */
const redirectUri = (): string => `${location.origin}/api/v1/connections/oauth/callback`

/** What the operator of the server does so that a connector can be used. */
export const SetupDialog = ({
  connector: { name, setup },
  onClose,
}: {
  connector: ConnectorEntry & { setup: NonNullable<ConnectorEntry['setup']> }
  onClose: () => void
}) => (
  <Dialog
    open
    wide
    onClose={onClose}
    title={t`Set up ${name}`}
    description={t`The operator of this server does this once. Afterwards, everyone can connect their own account.`}
    footer={
      <Button variant="primary" onClick={onClose}>
        <Trans>Close</Trans>
      </Button>
    }
  >
    <ol className={styles['steps']}>
      <li>
        <p>
          <Trans>
            Register an OAuth client at{' '}
            <a className="link" href={setup.registrationUrl} target="_blank" rel="noreferrer">
              {new URL(setup.registrationUrl).host}
            </a>{' '}
            with this redirect URI:
          </Trans>
        </p>
        <CodeBlock text={redirectUri()} label={t`Copy redirect URI`} />
      </li>
      <li>
        <p>
          <Trans>Set these variables of the server to the ID and the secret of the client:</Trans>
        </p>
        <CodeBlock text={setup.variables.map((variable) => `${variable}=`).join('\n')} label={t`Copy variables`} />
      </li>
      <li>
        <p>
          <Trans>Restart the server.</Trans>
        </p>
      </li>
    </ol>
    <p className={styles['faint']}>
      <Trans>
        The required scopes are in the{' '}
        <a className="link" href="/docs/guides/connectors#for-operators" target="_blank">
          guide for operators
        </a>
        .
      </Trans>
    </p>
  </Dialog>
)
