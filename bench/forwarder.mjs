// The lower bound of the runtime: copies bytes from one socket to another, unread. `node forwarder.mjs <port> <origin
// port>`.
import { connect, createServer } from 'node:net'

const [port, origin] = process.argv.slice(2).map(Number)

createServer({ noDelay: true }, (client) => {
  const upstream = connect({ port: origin ?? 0, host: '127.0.0.1', noDelay: true })
  join(client, upstream)
  join(upstream, client)
}).listen(port, '127.0.0.1', 4096)

function join(from, to) {
  from.pipe(to)
  from.on('error', () => to.destroy())
  from.on('close', () => to.destroy())
}
