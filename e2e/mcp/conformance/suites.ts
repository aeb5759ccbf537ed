import { fileURLToPath } from 'node:url'

/** One run of a release of the official suite, with what it calls a revision of the protocol. */
export interface Suite {
  title: string
  program: string
  /** Arguments behind `server --url …`. */
  args: string[]
}

const RELEASES = {
  '0.1.16': programOf('@modelcontextprotocol/conformance'),
  '0.2.0-alpha.12': programOf('conformance-next'),
}

export const suites: Suite[] = [
  suite('0.1.16', '2025-06-18', ['--suite', 'all', '--spec-version', '2025-06-18']),
  suite('0.1.16', '2025-11-25', ['--suite', 'all', '--spec-version', '2025-11-25']),
  suite('0.2.0-alpha.12', '2025-03-26', ['--suite', 'all', '--spec-version', '2025-03-26']),
  suite('0.2.0-alpha.12', '2025-06-18', ['--suite', 'all', '--spec-version', '2025-06-18']),
  suite('0.2.0-alpha.12', '2025-11-25', ['--requirements', '2025-11-25']),
  suite('0.2.0-alpha.12', '2026-07-28', ['--requirements', '2026-07-28']),
  // The requirements of the revision leave them out.
  ...['directory', 'enumeration', 'manifest'].map((part) =>
    suite('0.2.0-alpha.12', `2026-07-28, skills: ${part}`, ['--scenario', `sep-2640-skills-${part}`]),
  ),
]

function suite(release: keyof typeof RELEASES, what: string, args: string[]): Suite {
  return { title: `${what} (release ${release})`, program: RELEASES[release], args }
}

function programOf(name: string): string {
  return fileURLToPath(new URL(`../../../node_modules/${name}/dist/index.js`, import.meta.url))
}
