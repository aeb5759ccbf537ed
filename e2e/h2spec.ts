import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export interface AcceptedFailure {
  /** Section of RFC 7540, which the suite goes by. */
  section: string
  /** What the suite does, in its own words. */
  test: string
  /** `both`, or the one kind of port where it fails. */
  on: 'both' | 'plain'
  reason: string
}

const CLOSED_STREAM =
  'The library forgets a stream that is over and drops what still comes for it. RFC 9113 section 5.1 leaves it to the receiver whether that is an error.'
const PRIORITIES = 'RFC 9113 has no priorities any more (section 5.3); the library skips these frames unread.'

/** What fails, and why that is as it should be. The library is nghttp2, in the runtime. */
export const accepted: readonly AcceptedFailure[] = [
  {
    section: '3.5',
    test: 'Sends invalid connection preface',
    on: 'plain',
    reason:
      'The port speaks HTTP/1.1 too, and what is no preface is read as that: the answer is 400, and the connection is closed. The suite expects a close without a word.',
  },
  {
    section: '5.1',
    test: 'closed: Sends a DATA frame after sending RST_STREAM frame',
    on: 'both',
    reason: CLOSED_STREAM,
  },
  {
    section: '5.1',
    test: 'closed: Sends a HEADERS frame after sending RST_STREAM frame',
    on: 'both',
    reason: CLOSED_STREAM,
  },
  { section: '5.1', test: 'closed: Sends a DATA frame', on: 'both', reason: CLOSED_STREAM },
  { section: '5.1', test: 'closed: Sends a HEADERS frame', on: 'both', reason: CLOSED_STREAM },
  {
    section: '5.1.1',
    test: 'Sends stream identifier that is numerically smaller than previous',
    on: 'both',
    reason: 'The use of a number closes all smaller ones that were never used, so this is a closed stream too.',
  },
  { section: '5.3.1', test: 'Sends PRIORITY frame that depend on itself', on: 'both', reason: PRIORITIES },
  { section: '6.3', test: 'Sends a PRIORITY frame with 0x0 stream identifier', on: 'both', reason: PRIORITIES },
  {
    section: '6.7',
    test: 'Sends a PING frame with ACK',
    on: 'both',
    reason:
      'The runtime closes a connection whose client acknowledges a ping that was never sent. The suite expects it to go on.',
  },
  {
    section: '6.9.1',
    test: 'Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream',
    on: 'both',
    reason: 'The runtime ends the connection, not the stream alone: stricter than asked for.',
  },
]

export function pageOf(): string {
  const rows = accepted.map(({ section, test, on, reason }) => `| ${section} | ${test} | ${on} | ${reason} |\n`)
  return `# h2spec

<!-- Written by \`node --test e2e/h2spec.test.ts\`; do not edit. -->

[h2spec](https://github.com/summerwind/h2spec) 2.2.1 tests servers of HTTP/2 frame by frame: 145 tests of RFC 7540 and RFC 7541.
The gateway passes all of them on plain ports (prior knowledge) and on TLS ports, but for these. A test holds the list:
a failure that is not in it fails the build.

| Section | Test | Ports | Why it is accepted |
| --- | --- | --- | --- |
${rows.join('')}
What the runtime does not show: a request field with a malformed name, or with CR, LF or NUL in its value, is dropped
before the gateway sees the request, and the rest is served (RFC 9113 section 8.2.1 asks for a refusal). Nothing of such a
field reaches policies or backends. Fields with blanks around their values, and malformed pseudo-headers, are refused.
`
}

/** The program, from \`H2SPEC\`, the path or where Go puts what it installs; null where there is none. */
export function findH2spec(): string | null {
  const { H2SPEC, GOPATH, PATH = '' } = process.env
  const folders = [...PATH.split(delimiter), join(GOPATH ?? join(homedir(), 'go'), 'bin')]
  return [H2SPEC ?? '', ...folders.map((folder) => join(folder, 'h2spec'))].find((file) => existsSync(file)) ?? null
}

/** Runs all tests against a port; the names of those that failed, with what the suite says. */
export async function runH2spec(
  program: string,
  port: number,
  isTls: boolean,
): Promise<{ passed: number; failed: Map<string, string> }> {
  const folder = mkdtempSync(join(tmpdir(), 'h2spec-'))
  const report = join(folder, 'report.xml')
  const args = ['-h', '127.0.0.1', '-p', String(port), '-o', '3', '-j', report, ...(isTls ? ['-t', '-k'] : [])]
  try {
    // Its exit code says only that something failed; the report says what.
    await new Promise<void>((resolve) => execFile(program, args, { timeout: 300_000 }, () => resolve()))
    return readReport(readFileSync(report, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readReport(text: string): { passed: number; failed: Map<string, string> } {
  const failed = new Map<string, string>()
  let passed = 0
  for (const [, group, name, content = ''] of text.matchAll(
    /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>([^]*?)<\/testcase>/g,
  )) {
    const section = group?.split('/')[1] ?? ''
    const error = /<(?:error|failure)[^>]*>([^]*)<\/(?:error|failure)>/.exec(content)
    if (error === null) passed++
    else failed.set(`${section} ${name}`, error[1] ?? '')
  }
  return { passed, failed }
}
