import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/bits.tsx'

export const Home = () => {
  useTitle('Home')
  return (
    <Page>
      <PageHeader title="Home" />
    </Page>
  )
}
