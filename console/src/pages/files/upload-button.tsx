import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { FolderUp, Upload } from 'lucide-react'
import { useRef } from 'react'
import type { ChangeEvent } from 'react'
import { Button } from '../../ui/forms/button.tsx'
import { Menu } from '../../ui/forms/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { upload } from '../../uploads.ts'
import { filesOfInput } from './drag-data.ts'

/** Uploads files or a folder from this device. */
export const UploadButton = ({ parentId, reason }: { parentId: string | null; reason: string | false }) => {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const onChange = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    const send = async (): Promise<void> => {
      const chosen = filesOfInput(target.files ?? new DataTransfer().files)
      // Without the reset, selecting the same file again would not fire a change event.
      target.value = ''
      await upload(chosen, parentId)
    }
    send().catch((error: unknown) => toast.failed(t`Some files could not be uploaded`, error))
  }
  const button = (
    <Button variant="primary" icon={<Upload />} disabledReason={reason}>
      <Trans>Upload</Trans>
    </Button>
  )
  return (
    <>
      {reason === false ? (
        <Menu
          trigger={button}
          entries={[
            { label: t`Upload files`, icon: <Upload />, onSelect: () => files.current?.click() },
            { label: t`Upload folder`, icon: <FolderUp />, onSelect: () => folder.current?.click() },
          ]}
        />
      ) : (
        button
      )}
      <input ref={files} type="file" multiple hidden aria-label={t`Files to upload`} onChange={onChange} />
      <input ref={folder} type="file" webkitdirectory="" hidden aria-label={t`Folder to upload`} onChange={onChange} />
    </>
  )
}
