import { useTitle } from '../../title.ts'
import { Section } from '../../ui/bits.tsx'

export const Profile = () => {
  useTitle('Profile')
  return <Section title="Profile">…</Section>
}
