import type { Certificate } from '../http/model.ts'
import type { PortFacts } from './acls.ts'
import type { Proxy } from './proxies.ts'

/** A port that a frontend opens. */
export interface Bind extends PortFacts {
  readonly address: string | null
  readonly certificates: readonly Certificate[] | null
}

/** Reads the `bind` lines of a frontend. Sockets, UDP and ranges of ports are reported as not carried. */
export function readBinds({ lines }: Proxy): Bind[] {
  return lines
    .filter(({ name }) => name === 'bind')
    .flatMap((line) => {
      const [addresses = '', ...options] = line.args
      const isTls = options.includes('ssl')
      const files = options.flatMap((option, index) => (option === 'crt' ? (options[index + 1] ?? []) : []))
      const authorities = options[options.indexOf('ca-file') + 1]
      const isVerified = options.includes('ca-file') && options[options.indexOf('verify') + 1] === 'required'
      const binds: Bind[] = []
      const lost: string[] = []
      for (const part of addresses.split(',')) {
        const found = /^(?:ipv[46]@)?(\*|\[?[0-9a-fA-F:]*\]?|[0-9.]+|localhost)?:(\d{1,5})$/.exec(part)
        const port = Number(found?.[2] ?? 0)
        if (found === null || port < 1 || port > 65_535) {
          lost.push(part)
          continue
        }
        const address = (found[1] ?? '*').replaceAll(/[[\]]/g, '')
        const isAll = ['', '*', '::', '0.0.0.0'].includes(address)
        binds.push({
          ...{ port, isTls, address: isAll ? null : address === 'localhost' ? '127.0.0.1' : address },
          certificates: isTls
            ? [
                {
                  hostname: null,
                  cert: files[0] ?? 'missing-certificate.pem',
                  key: files[0] ?? 'missing-key.pem',
                  root: isVerified ? (authorities ?? 'missing-root.pem') : null,
                },
              ]
            : null,
        })
      }
      const others = options.filter((option) =>
        ['accept-proxy', 'interface', 'transparent', 'process', 'crt-list', 'strict-sni'].includes(option),
      )
      if (lost.length > 0)
        line.notCarried(
          `${lost.join(', ').slice(0, 60)}: the gateway cannot listen on a socket, a range of ports or UDP`,
        )
      else if (others.includes('accept-proxy'))
        line.changed(
          'the importer ignores accept-proxy; configure frontend.proxyProtocol: docs/policies/frontend-proxy-protocol.md',
          true,
        )
      else if (others.length > 0 || files.length > 1)
        line.changed(
          `the importer ignores ${[...others, ...(files.length > 1 ? ['the other certificates'] : [])].join(', ')}`,
        )
      else line.carried(isTls ? 'copy the certificate to this path, or change the path' : '')
      return binds
    })
}
