import { connect } from 'node:net'

/** Standard input and output as a connection to a port of this network namespace. */
const [, , port] = process.argv
const socket = connect({ port: Number(port), host: 'localhost', allowHalfOpen: true })
socket.on('error', (error) => {
  process.stderr.write(`port ${port}: ${error.message}\n`)
  process.exit(1)
})
process.stdin.pipe(socket)
socket.pipe(process.stdout)
