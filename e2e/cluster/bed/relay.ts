import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * A way into a network namespace: sockets with a path are seen from everywhere. Each connection begins with a line that
 * says where it wants to go.
 */

/** The end inside. */
export function serveRelay(path: string): Server {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => undefined)
    let head = ''
    const read = (): void => {
      for (let byte: Buffer | null; (byte = client.read(1) as Buffer | null) !== null;) {
        if (byte[0] !== LINE_END) {
          head += byte.toString('latin1')
          continue
        }
        client.off('readable', read)
        const [host = '', port = ''] = head.split(' ')
        join(client, connect({ host, port: Number(port), allowHalfOpen: true }))
        return
      }
    }
    client.on('readable', read)
  })
  return server.listen(path)
}

/** The end outside: a loopback port that leads to one inside. */
export async function openRelay(path: string, host: string, port: number): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const inside = connect({ path, allowHalfOpen: true })
    inside.write(`${host} ${port}\n`)
    join(client, inside)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 }
}

const LINE_END = 10

function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to)
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroySoon())
  }
}
