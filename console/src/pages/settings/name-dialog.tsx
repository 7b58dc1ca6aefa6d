import { t } from '@lingui/core/macro'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'

/** Asks for a name, to create or rename a resource. */
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
  const form = useSubmit(async () => {
    await work(name.trim())
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title={title}
      description={description}
      form={form}
      action={action}
      disabledReason={name.trim() === '' && t`Enter a name.`}
    >
      <TextField
        label={t`Name`}
        field="name"
        maxLength={120}
        autoComplete="off"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
    </FormDialog>
  )
}
