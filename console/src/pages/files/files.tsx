import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/bits.tsx'

export const Files = () => {
  useTitle('Files')
  return (
    <Page>
      <PageHeader title="Files" />
    </Page>
  )
}
