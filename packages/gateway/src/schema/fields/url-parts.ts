import { object } from '../kit.ts'
import { host, urlAuthority } from './hosts.ts'
import { urlPath } from './http-parts.ts'
import { exactlyOneOf } from '../rules.ts'
import { port } from './values.ts'

/** A change of the authority of a URL. */
export function authorityChange() {
  return object(
    {
      full: urlAuthority().optional().describe('The new authority, such as `example.com:8443`.'),
      host: host().optional().describe('The new host; the port stays.'),
      port: port().optional().describe('The new port; the host stays.'),
    },
    [exactlyOneOf('full', 'host', 'port')],
  )
}

/** A change of the path of a URL. */
export function pathChange() {
  return object(
    {
      full: urlPath().optional().describe('The new path.'),
      prefix: urlPath()
        .optional()
        .describe('Replaces the prefix that the route matched; only for routes whose matches are all prefixes.'),
    },
    [exactlyOneOf('full', 'prefix')],
  )
}
