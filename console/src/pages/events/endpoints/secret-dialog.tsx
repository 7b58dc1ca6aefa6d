import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { EventEndpointWithSecret } from '@atrium/client'
import { Dialog } from '../../../ui/dialog.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { CodeBlock } from '../../../ui/forms/code-block.tsx'
import { SecretField } from '../../../ui/forms/secret-field.tsx'
import styles from './endpoints.module.css'

const verification = `import { Webhook } from 'standardwebhooks'

const event = new Webhook(secret).verify(body, headers)`

/** Shows a new signing secret once. */
export const EndpointSecretDialog = ({
  endpoint,
  title,
  onClose,
}: {
  endpoint: EventEndpointWithSecret
  title: string
  onClose: () => void
}) => (
  <Dialog
    open
    wide
    onClose={onClose}
    title={title}
    footer={
      <Button variant="primary" onClick={onClose}>
        <Trans>I have saved the secret</Trans>
      </Button>
    }
  >
    <SecretField
      label={t`Signing secret`}
      value={endpoint.secret}
      note={t`Copy the secret now. You will not be able to see it again. If you lose it, rotate it.`}
    />
    <div className={styles['stack']}>
      <h3>
        <Trans>Verify deliveries</Trans>
      </h3>
      <p className={styles['faint']}>
        <Trans>
          Deliveries are signed by Standard Webhooks. Verify the body as it was received with one of its libraries
          before you use it:
        </Trans>
      </p>
      <CodeBlock text={verification} label={t`Copy code`} />
    </div>
  </Dialog>
)
