import { createSocket } from 'node:dgram'
import { NODE_ADDRESS } from './node-settings.ts'

const [A, ANY_CLASS] = [1, 1]
const [NO_ERROR, NO_NAME] = [0, 3]
const TTL_SECONDS = 1

/** Gives names their addresses over UDP; undefined when there is no such name. */
export function startNameServer(find: (name: string) => readonly string[] | undefined): void {
  const socket = createSocket('udp4')
  socket.on('message', (message, from) => {
    const answer = answerTo(message, find)
    if (answer !== undefined) socket.send(answer, from.port, from.address)
  })
  socket.bind(53, NODE_ADDRESS)
}

/** The contents of `/etc/resolv.conf` in a container. */
export function resolverConfig(namespace: string): string {
  const search = [`${namespace}.${SUFFIX}`, SUFFIX, 'cluster.local']
  return `nameserver ${NODE_ADDRESS}\nsearch ${search.join(' ')}\noptions ndots:5\n`
}

const SUFFIX = 'svc.cluster.local'

/** `namespace/name` of the Service that a name means. */
export function serviceOf(name: string): string | undefined {
  const [service, namespace, ...rest] = name.toLowerCase().replace(/\.$/, '').split('.')
  return rest.join('.') === SUFFIX ? `${namespace}/${service}` : undefined
}

/** RFC 1035 4.1: the head, the question as it came, and an address for each answer. */
function answerTo(query: Buffer, find: (name: string) => readonly string[] | undefined): Buffer | undefined {
  if (query.length < 17 || query.readUInt16BE(4) !== 1) return undefined
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length !== 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
    if (at + 5 > query.length) return undefined
  }
  const end = at + 5
  const addresses = find(labels.join('.'))
  const isAddress = query.readUInt16BE(at + 1) === A
  const answers = isAddress ? (addresses ?? []) : []
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  // An answer with authority; recursion is wanted and pretended.
  head.writeUInt16BE(0x8580 | (addresses === undefined ? NO_NAME : NO_ERROR), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(answers.length, 6)
  return Buffer.concat([head, query.subarray(12, end), ...answers.map(record)])
}

function record(address: string): Buffer {
  const head = Buffer.alloc(12)
  // The name is that of the question, at byte 12.
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(A, 2)
  head.writeUInt16BE(ANY_CLASS, 4)
  head.writeUInt32BE(TTL_SECONDS, 6)
  head.writeUInt16BE(4, 10)
  return Buffer.concat([head, Buffer.from(address.split('.').map(Number))])
}
