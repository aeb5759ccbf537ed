// The origin of large transfers: `node bulk.mjs <port> <bytes>`. It reads the whole request, then sends this many
// bytes.
import { createServer } from 'node:http'

const [port, bytes] = process.argv.slice(2).map(Number)
const body = Buffer.alloc(bytes ?? 0, 'portico ')

createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  let taken = 0
  request.on('data', (chunk) => (taken += chunk.length))
  request.on('end', () => {
    if (request.url === '/bulk') response.writeHead(200, { 'content-length': body.length }).end(body)
    else response.end(String(taken))
  })
}).listen(port, '127.0.0.1')
