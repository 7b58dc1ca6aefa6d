import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { EventTypeRecord } from '@atrium/client'
import { apiText } from '../../i18n/language.ts'
import { useIdentity } from '../../session.tsx'
import { DescriptionList } from '../../ui/data/description-list.tsx'
import { JsonView } from '../../ui/data/json-view.tsx'
import type { Column } from '../../ui/data/table.tsx'
import { Table } from '../../ui/data/table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { InlineCode } from '../../ui/text/inline-code.tsx'
import { formatWord } from '../../words.ts'
import { Notice } from '../../ui/notice.tsx'
import styles from './events.module.css'
import { isReadable } from './areas.ts'
import { fieldsOf } from './schema.ts'
import type { SchemaField } from './schema.ts'

const columns: Column<SchemaField>[] = [
  {
    title: msg`Field`,
    cell: ({ name, type, isRequired }) => (
      <span className={styles['field']}>
        <code>{name}</code>
        <small>
          {type}
          {!isRequired && `, ${t`optional`}`}
        </small>
      </span>
    ),
  },
  { title: msg`Description`, cell: ({ description }) => <InlineCode text={apiText(description)} /> },
]

const readersOf = ({ ownerPermission, isOwnerOnly }: EventTypeRecord): string => {
  if (isOwnerOnly) return t`The owner of the resource`
  return ownerPermission === null
    ? t`All with the permission`
    : t`All with the permission, and the owner of the resource`
}

/** One type of event: the fields of its data, and an example. */
export const TypeDialog = ({ of, onClose }: { of: EventTypeRecord; onClose: () => void }) => {
  const { can } = useIdentity()
  const { type, version, description, permission, subject, dataSchema, exampleData } = of
  const fields = fieldsOf(dataSchema)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={type}
      description={<InlineCode text={apiText(description)} />}
      footer={
        <ButtonLink to={`/events?type=${encodeURIComponent(type)}`}>
          <Trans>View events</Trans>
        </ButtonLink>
      }
    >
      {!isReadable(of, can) && (
        <Notice tone="info">
          <Trans>You do not have permission to read these events.</Trans>
        </Notice>
      )}
      <DescriptionList
        items={[
          [t`Resource`, formatWord(subject)],
          [t`Permission`, <code key="permission">{permission}</code>],
          [t`Who may read`, readersOf(of)],
          [t`Version`, version],
        ]}
      />
      <div className={styles['stack']}>
        <h3>
          <Trans>Data</Trans>
        </h3>
        <Table label={t`Data`} columns={columns} rows={fields} keyOf={({ name }) => name} />
      </div>
      <div className={styles['stack']}>
        <h3>
          <Trans>Example data</Trans>
        </h3>
        <JsonView value={exampleData} label={t`Example data`} />
      </div>
    </Dialog>
  )
}
