import { t } from '@lingui/core/macro'
import type { Message } from '@atrium/client'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { api, refresh } from '../../../api.ts'
import { IconButton } from '../../../ui/forms/button.tsx'
import { toast } from '../../../ui/toast.tsx'
import styles from '../message.module.css'

/** Switches between the versions of a message: `‹ 1 / 2 ›`. */
export const VersionSwitch = ({
  of,
  versions,
  disabledReason,
}: {
  of: Message
  versions: readonly string[]
  disabledReason: string | false
}) => {
  const [isBusy, setBusy] = useState(false)
  const at = versions.indexOf(of.id)
  const show = async (messageId: string): Promise<void> => {
    setBusy(true)
    try {
      await api.call('POST /sessions/:id/branch', { params: { id: of.sessionId }, body: { messageId } })
      await refresh('GET /sessions/:id', 'GET /sessions/:id/messages', 'GET /sessions')
    } catch (error) {
      toast.failed(t`The version could not be shown`, error)
    } finally {
      setBusy(false)
    }
  }
  const arrow = (step: -1 | 1) => {
    const target = versions[at + step]
    return (
      <IconButton
        small
        label={step < 0 ? t`Previous version` : t`Next version`}
        icon={step < 0 ? <ChevronLeft /> : <ChevronRight />}
        busy={isBusy}
        disabledReason={
          target === undefined
            ? step < 0
              ? t`This is the first version.`
              : t`This is the last version.`
            : disabledReason
        }
        onClick={() => target !== undefined && void show(target)}
      />
    )
  }
  return (
    <span className={styles['versions']} role="group" aria-label={t`Versions of this message`}>
      {arrow(-1)}
      <span>
        {at + 1} / {versions.length}
      </span>
      {arrow(1)}
    </span>
  )
}
