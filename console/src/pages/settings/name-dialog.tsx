import { useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/states.tsx'
import { useSubmit } from '../../ui/use-submit.ts'

/** Asks for a name, to make or to rename something. */
export const NameDialog = ({
  title,
  description,
  action,
  initial = '',
  work,
  onClose,
}: {
  title: string
  description?: ReactNode
  action: string
  initial?: string
  work: (name: string) => Promise<unknown>
  onClose: () => void
}) => {
  const [name, setName] = useState(initial)
  const { busy, error, submit } = useSubmit(async () => {
    if (name.trim() === '') return
    await work(name.trim())
    onClose()
  })
  return (
    <Dialog
      open
      onClose={onClose}
      onSubmit={submit}
      title={title}
      description={description}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            type="submit"
            busy={busy}
            disabledReason={name.trim() === '' && 'Type a name first.'}
          >
            {action}
          </Button>
        </>
      }
    >
      <Notice error={error} />
      <TextField
        label="Name"
        maxLength={120}
        autoComplete="off"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
    </Dialog>
  )
}
