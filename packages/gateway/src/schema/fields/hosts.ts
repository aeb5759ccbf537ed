import { isHost, parseHostPort, parseHostTarget } from '../../formats/address.ts'
import { isCidr, isIp } from '@portico/http/text'
import type { HostTarget } from '../../formats/address.ts'
import type { Schema } from '../kit.ts'
import { textual } from './values.ts'

/** Hosts and addresses. */

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'

/** A host that clients request; the output is in lower case. `wildcard` also accepts `*.example.com`. */
export function hostname(form: { wildcard: boolean }): Schema<string> {
  const pattern = new RegExp(`^${form.wildcard ? '(\\*\\.)?' : ''}${label}(\\.${label})*$`)
  const insensitive = new RegExp(pattern.source, 'i')
  const kinds = form.wildcard
    ? 'a hostname such as `example.com` or `*.example.com`'
    : 'a hostname such as `example.com`'
  const json = { type: 'string', minLength: 1, maxLength: 253 }
  return textual((text) => (text.length <= 253 && insensitive.test(text) ? text.toLowerCase() : null), {
    type: 'hostname',
    expected: kinds,
    json: { ...json, pattern: bothCases(pattern.source) },
    crd: { ...json, pattern: pattern.source },
  })
}

/** Some servers compare names byte by byte, so the name is sent as written. */
export function serverName(): Schema<string> {
  const pattern = new RegExp(`^${label}(\\.${label})*$`)
  return textual((text) => (text.length <= 253 && pattern.test(text) ? text : null), {
    type: 'server name',
    expected: 'a hostname in lower case such as `example.com`',
    json: { type: 'string', minLength: 1, maxLength: 253, pattern: pattern.source },
  })
}

/** A DNS name or an IP address to connect to. */
export function host(): Schema<string> {
  return textual((text) => (text.length <= 256 && isHost(text) ? text.toLowerCase() : null), {
    type: 'host',
    expected: 'a DNS name or an IP address',
    json: { type: 'string', minLength: 1, maxLength: 256 },
    crd: { type: 'string', minLength: 1, maxLength: 256, pattern: '^[A-Za-z0-9_.:-]+$' },
  })
}

/** `name:port`, `[::1]:port` or `unix:/path`, taken apart. */
export function hostTarget(): Schema<HostTarget> {
  return textual(parseHostTarget, {
    type: 'host:port',
    expected: '`host:port`, `[ipv6]:port` or `unix:/path`',
    json: { type: 'string', minLength: 3, maxLength: 512 },
  })
}

/** `name:port` or `[::1]:port`, taken apart. */
export function hostPort(): Schema<{ host: string; port: number }> {
  return textual(
    (text) => {
      const address = parseHostPort(text)
      return address === null || address.port === 0 ? null : address
    },
    {
      type: 'host:port',
      expected: '`host:port` or `[ipv6]:port`',
      json: { type: 'string', minLength: 3, maxLength: 512 },
    },
  )
}

/** An address for the gateway's own servers; `off` opens nothing. */
export function listenAddress(): Schema<string> {
  const isAddress = (text: string): boolean => {
    if (text === 'off' || /^unix:\/./.test(text)) return true
    const address = parseHostPort(text)
    return address !== null && (address.host === 'localhost' || isIp(address.host))
  }
  return textual(
    (text) =>
      isAddress(text.toLowerCase()) ? text.replace(/^(off|localhost)\b/i, (word) => word.toLowerCase()) : null,
    {
      type: 'address',
      expected: '`ip:port`, `[ipv6]:port`, `localhost:port`, `unix:/path` or `off`',
      json: { type: 'string', minLength: 3, maxLength: 300 },
    },
  )
}

/** A single IP address. */
export function ipAddress(): Schema<string> {
  return textual((text) => (isIp(text) ? text.toLowerCase() : null), {
    type: 'IP address',
    expected: 'an IP address such as `127.0.0.1` or `::1`',
    json: { type: 'string', minLength: 2, maxLength: 45 },
  })
}

export function cidr(): Schema<string> {
  return textual((text) => (isCidr(text) ? text.toLowerCase() : null), {
    type: 'cidr',
    expected: 'an address range such as `10.0.0.0/8` or `fd00::/8`',
    json: { type: 'string', minLength: 2, maxLength: 64 },
  })
}

/** `example.com`, `example.com:8443`, `[::1]:8443`; lower case out. */
export function urlAuthority(): Schema<string> {
  return textual((text) => (isAuthority(text) ? text.toLowerCase() : null), {
    type: 'authority',
    expected: '`host` or `host:port`',
    json: { type: 'string', minLength: 1, maxLength: 262 },
  })
}

/** JSON Schema has no flag for letter case. */
function bothCases(pattern: string): string {
  return pattern.replaceAll('a-z0-9', 'A-Za-z0-9')
}

function isAuthority(text: string): boolean {
  return (isHost(text) && !text.includes(':')) || parseHostPort(text) !== null
}
