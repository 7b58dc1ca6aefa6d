import { UsageError } from './command.ts'
import { runCommand } from './run-command.ts'

const printError = (text: string): void => console.error(text)

/** Reads a line from the terminal without showing it. */
const readHidden = async (): Promise<string> => {
  const { stdin } = process
  printError('New password (not shown):')
  stdin.setRawMode(true)
  try {
    let typed = ''
    for await (const chunk of stdin.setEncoding('utf8')) {
      for (const key of String(chunk)) {
        if (key === '\r' || key === '\n') return typed
        if (key === '\u0003') throw new UsageError('interrupted')
        typed = key === '\u007f' ? [...typed].slice(0, -1).join('') : typed + key
      }
    }
    return typed
  } finally {
    stdin.setRawMode(false)
  }
}

/** Reads the password from standard input, without the final line break. */
const readPassword = async (): Promise<string> => {
  if (process.stdin.isTTY) return readHidden()
  let input = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) input += String(chunk)
  return input.replace(/\r?\n$/, '')
}

const code = await runCommand(process.argv.slice(2), {
  env: process.env,
  print: (text) => console.log(text),
  printError,
  readPassword,
})
if (code !== 0) process.exitCode = code
