// The command that the conformance suite of MCP starts for each of its 64 scenarios. The client itself runs in the process
// of the test, because loading it takes half a second of CPU time. Arguments: the socket of the test, a URL.
import { connect } from 'node:net'

const [socket = '', url = ''] = process.argv.slice(2)
const scenario = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}')
const connection = connect(socket)
connection.write(`${JSON.stringify({ url, scenario })}\n`)
let answer = ''
for await (const chunk of connection) answer += String(chunk)
if (answer !== 'done') {
  process.stderr.write(answer)
  process.exitCode = 1
}
