import type { Directive } from './directive.ts'

/** A `listen` of a server. */
export interface Listen {
  readonly address: string | null
  readonly port: number
  readonly isTls: boolean
  readonly isDefault: boolean
}

/** A server with its ports and names. */
export interface Server {
  readonly directive: Directive
  readonly listens: readonly Listen[]
  /** Hostnames, exact or with a wildcard; empty for a server without usable names. */
  readonly names: readonly string[]
}

/** Reads the head of a `server` block. */
export function readServer(directive: Directive): Server {
  const block = directive.block ?? []
  const listens = block.filter(({ name }) => name === 'listen').flatMap((each) => readListen(each) ?? [])
  const isSilent = !block.some(({ name }) => name === 'listen')
  directive.carried()
  return {
    directive,
    listens: isSilent ? [{ address: null, port: 80, isTls: false, isDefault: false }] : listens,
    names: block.filter(({ name }) => name === 'server_name').flatMap(readNames),
  }
}

function readListen(directive: Directive): Listen | null {
  const [where = '', ...options] = directive.args
  const found =
    /^(?:(\[[0-9a-f:.]+\]|\*|[0-9.]+|localhost):)?(\d{1,5})$|^(\[[0-9a-f:.]+\]|\*|[0-9]+\.[0-9.]+|localhost)$/i.exec(
      where,
    )
  const port = Number(found?.[2] ?? 80)
  if (found === null || port < 1 || port > 65_535 || options.includes('quic') || options.includes('udp')) {
    directive.notCarried('the gateway cannot listen on a socket, a name or UDP')
    return null
  }
  const address = (found[1] ?? found[3] ?? '*').replaceAll(/[[\]]/g, '')
  const others = options.filter(
    (option) => !['ssl', 'default_server', 'http2', 'default', 'reuseport'].includes(option),
  )
  if (others.length > 0)
    directive.changed(`the importer ignores ${others.map((option) => option.split('=')[0]).join(', ')}`)
  else directive.carried()
  return {
    address: ['*', '::', '0.0.0.0'].includes(address) ? null : address === 'localhost' ? '127.0.0.1' : address,
    port,
    isTls: options.includes('ssl'),
    isDefault: options.includes('default_server') || options.includes('default'),
  }
}

function readNames(directive: Directive): string[] {
  const lost: string[] = []
  const names = directive.args.flatMap((name) => {
    const lower = name.toLowerCase()
    if (/^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(lower)) return [lower]
    if (/^\.[a-z0-9.-]+[a-z0-9]$/.test(lower)) return [lower.slice(1), `*${lower}`]
    if (name !== '_' && name !== '') lost.push(name)
    return []
  })
  if (lost.length === 0) directive.carried()
  else
    directive.notCarried(
      `the gateway has no names that are patterns or end in a wildcard: ${lost.join(' ').slice(0, 100)}`,
    )
  return names
}
