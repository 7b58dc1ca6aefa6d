import { t } from '@lingui/core/macro'
import { useDeferredValue, useState } from 'react'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Activity } from './activity.tsx'
import { Attention } from './attention.tsx'
import { Figures } from './figures.tsx'
import { FirstSteps } from './first-steps.tsx'
import styles from './home.module.css'
import { Conversations } from './conversations.tsx'
import { RecentFiles } from './recent-files.tsx'

const greeting = (hour: number): string => {
  if (hour >= 5 && hour < 12) return t`Good morning`
  return hour >= 12 && hour < 18 ? t`Good afternoon` : t`Good evening`
}

export const Home = () => {
  useTitle(t`Home`)
  const { session, me, can } = useIdentity()
  const [hello] = useState(() => greeting(new Date().getHours()))
  const [first] = session.user.name.split(' ')
  // What a phone shows below its screen follows in tasks of its own.
  const isBelowShown = useDeferredValue(true, false)
  return (
    <Page wide>
      <PageHeader
        title={`${hello}, ${first}`}
        description={me.workspace === null ? me.org.name : t`${me.org.name}, workspace ${me.workspace.name}`}
      />
      <Attention />
      <FirstSteps />
      <Figures />
      {isBelowShown && (
        <div className={styles['columns']}>
          <div>
            <Conversations />
            {can('files:read') && <RecentFiles />}
          </div>
          {can('audit:read') && <Activity />}
        </div>
      )}
    </Page>
  )
}
