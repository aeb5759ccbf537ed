import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { connect, createServer, type TLSSocket } from 'node:tls'
import type { ProxyOrder, ProxySettings, ProxyReport } from './api-proxy.ts'

/**
 * Stands before the API server, under its own certificate, and does to connections what networks do. Each line of its
 * standard input is an order, answered with what was seen since the line before; it ends with its input.
 */

const { listen, to, cert, key, ca } = JSON.parse(process.argv[2] ?? '') as ProxySettings
const open = new Set<TLSSocket>()
let isClosed = false
/** How many events of watches are still to be cut. */
let cuts = 0
let seen: ProxyReport = { cut: 0, refused: {} }

const options = { cert: readFileSync(cert), key: readFileSync(key) }
createServer(options, (client) => {
  if (isClosed) return void client.destroy()
  const server = connect({ ...to, ca: readFileSync(ca) })
  for (const [socket, other] of [
    [client, server],
    [server, client],
  ] as const) {
    open.add(socket)
    socket.on('error', () => other.destroy())
    socket.on('close', () => {
      open.delete(socket)
      other.destroySoon()
    })
  }
  client.pipe(server)
  server.on('data', (bytes: Buffer) => {
    look(bytes)
    const at = cuts > 0 ? bytes.indexOf('{"type":"') : -1
    if (at === -1) {
      if (!client.write(bytes)) server.pause()
      return
    }
    cuts -= 1
    seen.cut += 1
    // Somewhere behind the beginning of the line and before its end.
    const middle = at + 12 + Math.floor(Math.random() * 100)
    client.write(bytes.subarray(0, Math.min(middle, bytes.length - 3)), () => client.destroy())
    server.destroy()
  })
  client.on('drain', () => server.resume())
}).listen(listen.port, listen.host)

/** Refusals, whether as an answer or in a stream. */
function look(bytes: Buffer): void {
  const text = bytes.toString('latin1')
  for (const [, answer, inStream] of text.matchAll(/HTTP\/1\.1 (4\d\d)|"type":"ERROR".*?"code":(\d+)/g)) {
    const code = answer ?? inStream ?? ''
    seen.refused[code] = (seen.refused[code] ?? 0) + 1
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const order = JSON.parse(line) as ProxyOrder
    if (order.isClosed !== undefined) isClosed = order.isClosed
    if (order.cuts !== undefined) cuts = order.cuts
    if (isClosed) for (const socket of open) socket.destroy()
    process.stdout.write(`${JSON.stringify(seen)}\n`)
    seen = { cut: 0, refused: {} }
  })
  .on('close', () => process.exit(0))
