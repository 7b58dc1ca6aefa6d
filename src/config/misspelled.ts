import { distance } from 'fastest-levenshtein'
import { variables } from './config.ts'

const mostEdits = 2
// Short names of other programs are similar to each other by chance, such as HOST and POST.
const minLength = 8

/** Names in the environment that differ from that of a variable by at most two characters, and that variable. */
export const findMisspelled = (env: NodeJS.ProcessEnv): { name: string; known: string }[] => {
  const names = Object.keys(variables)
  return Object.keys(env)
    .filter((name) => name.length >= minLength && !Object.hasOwn(variables, name))
    .flatMap((name) => {
      const known = names.find((one) => one.length >= minLength && distance(one, name) <= mostEdits)
      return known === undefined ? [] : [{ name, known }]
    })
}
