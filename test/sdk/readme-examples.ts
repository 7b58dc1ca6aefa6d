import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './installed.ts'

export interface Example {
  title: string
  code: string
  /** What the program prints. */
  output: string
}

/** The examples of a README: sections with a number, a program and its output. */
export const examplesIn = (path: string, language: string): Example[] => {
  const block = (name: string, text: string): string =>
    new RegExp(`^\`\`\`${name}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text)?.[1] ?? ''
  const sections = readFileSync(join(root, path), 'utf8').matchAll(/^### \d+\. (.+)\n([\s\S]*?)(?=^##)/gm)
  return [...sections].map(([, title = '', text = '']) => ({
    title,
    code: block(language, text),
    output: block('text', text),
  }))
}
