import { FolderUp, Upload } from 'lucide-react'
import { useRef } from 'react'
import type { ChangeEvent } from 'react'
import { Button } from '../../ui/forms/button.tsx'
import { Menu } from '../../ui/forms/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { upload } from '../../uploads.ts'
import { filesOfInput } from './drag-data.ts'

/** Chooses files or a folder of this machine. */
export const UploadButton = ({ parentId, reason }: { parentId: string | null; reason: string | false }) => {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const onChange = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    const chosen = filesOfInput(target.files ?? new DataTransfer().files)
    // The same file again is a change as well.
    target.value = ''
    upload(chosen, parentId).catch((error: unknown) => toast.failed('Not everything could be uploaded', error))
  }
  const button = (
    <Button variant="primary" icon={<Upload />} disabledReason={reason}>
      Upload
    </Button>
  )
  return (
    <>
      {reason === false ? (
        <Menu
          trigger={button}
          entries={[
            { label: 'Files', icon: <Upload />, onSelect: () => files.current?.click() },
            { label: 'A folder', icon: <FolderUp />, onSelect: () => folder.current?.click() },
          ]}
        />
      ) : (
        button
      )}
      <input ref={files} type="file" multiple hidden aria-label="Files to upload" onChange={onChange} />
      <input ref={folder} type="file" webkitdirectory="" hidden aria-label="Folder to upload" onChange={onChange} />
    </>
  )
}
