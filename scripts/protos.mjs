// Generates packages/gateway/src/protos from the .proto files of an npm package: `node scripts/protos.mjs`.
// With --check it writes nothing, and fails when the generated files differ. Its tools are large and rarely needed, so they
// are installed only for the run.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const TOOLS = ['@grpc/grpc-js-xds@1.14.1', '@bufbuild/buf@1.74.0', 'ts-proto@2.18.0']
const ROOTS = ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate']
const SERVICES = ['auth/v3/external_auth', 'ext_proc/v3/external_processor', 'ratelimit/v3/rls']
const OPTIONS = [
  'comments=false',
  'enumsAsLiterals=true',
  'esModuleInterop=true',
  'exportCommonSymbols=false',
  'forceLong=number',
  'importSuffix=.ts',
  'oneof=unions-value',
  'outputIndex=false',
  'outputJsonMethods=false',
  'outputPartialMethods=false',
  'outputServices=none',
  'unrecognizedEnum=false',
  'useMapType=true',
]
/** Duplicate names of types, which are not used. */
const NAMESPACE = /^export namespace \w+ \{\n(?: {2}.*\n)*\}\n\n?/gm
/** The generator assigns members one by one, which is wrong for a name such as `__proto__`. */
const UNWRAP =
  /    const object: \{ \[key: string\]: any \} = \{\};\n {4}if \(message\.fields\) \{\n(?: {6}.*\n)* {4}\}\n {4}return object;\n/
/** Fields that the services have and the package lacks: the file, the text before them, and the addition. */
const NEWER = [
  ['extensions/filters/http/ext_proc/v3/processing_mode', /BUFFERED_PARTIAL = 3;/, 'FULL_DUPLEX_STREAMED = 4;'],
  ['service/ext_proc/v3/external_processor', /bool clear_body = 2;/, 'StreamedBodyResponse streamed_response = 3;'],
  [
    'service/ext_proc/v3/external_processor',
    /bool observability_mode = 10;/,
    'ProtocolConfiguration protocol_config = 11;',
  ],
  [
    'service/ext_proc/v3/external_processor',
    /$/,
    `message StreamedBodyResponse {
  bytes body = 1;
  bool end_of_stream = 2;
}

message ProtocolConfiguration {
  envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode request_body_mode = 1;
  envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode response_body_mode = 2;
  bool send_body_without_waiting_for_header_response = 3;
}
`,
  ],
  [
    'extensions/common/ratelimit/v3/ratelimit',
    /message RateLimitDescriptor \{/,
    'google.protobuf.UInt64Value hits_addend = 3;',
  ],
  [
    'extensions/common/ratelimit/v3/ratelimit',
    /import "envoy\/type\/v3\/token_bucket.proto";/,
    'import "google/protobuf/wrappers.proto";',
  ],
]
const target = fileURLToPath(new URL('../packages/gateway/src/protos/', import.meta.url))

const work = mkdtempSync(join(tmpdir(), 'portico-protos-'))
try {
  const files = usedFiles(generate(work))
  if (process.argv.includes('--check')) check(files)
  else write(files)
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Generates every message that the services reach, and the annotations of their fields; returns the output folder. */
function generate(folder) {
  const run = (command, ...args) => execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  run('npm', 'install', '--silent', '--no-audit', '--no-fund', ...TOOLS)
  const deps = 'node_modules/@grpc/grpc-js-xds/deps'
  for (const [name, place, added] of NEWER) addTo(join(folder, deps, `envoy-api/envoy/${name}.proto`), place, added)
  const plugin = {
    local: 'node_modules/.bin/protoc-gen-ts_proto',
    out: 'out',
    include_imports: true,
    include_wkt: true,
    opt: OPTIONS,
  }
  const modules = ROOTS.map((root) => ({ path: `${deps}/${root}` }))
  writeFileSync(join(folder, 'buf.yaml'), JSON.stringify({ version: 'v2', modules }))
  writeFileSync(join(folder, 'buf.gen.yaml'), JSON.stringify({ version: 'v2', plugins: [plugin] }))
  const paths = SERVICES.flatMap((name) => ['--path', `${deps}/envoy-api/envoy/service/${name}.proto`])
  run('node_modules/.bin/buf', 'generate', ...paths)
  return join(folder, 'out')
}

function addTo(file, place, added) {
  const text = readFileSync(file, 'utf8')
  if (!place.test(text)) throw new Error(`${file} has no ${place}`)
  writeFileSync(
    file,
    text.replace(place, (found) => `${found}\n${added}\n`),
  )
}

/** The imports of the services, by path. */
function usedFiles(folder) {
  const textByPath = new Map()
  const open = SERVICES.map((name) => `envoy/service/${name}.ts`)
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (textByPath.has(path)) continue
    const text = readFileSync(join(folder, path), 'utf8')
      .replace(NAMESPACE, '')
      .replace(UNWRAP, '    return globalThis.Object.fromEntries(message.fields);\n')
    textByPath.set(path, text)
    for (const [, imported] of text.matchAll(/from "(\.[^"]+)"/g)) open.push(normalize(join(dirname(path), imported)))
  }
  return textByPath
}

function write(textByPath) {
  rmSync(target, { recursive: true, force: true })
  for (const [path, text] of textByPath) {
    mkdirSync(dirname(join(target, path)), { recursive: true })
    writeFileSync(join(target, path), text)
  }
}

function check(textByPath) {
  const kept = readdirSync(target, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(target, join(entry.parentPath, entry.name)))
  const differing = [...new Set([...kept, ...textByPath.keys()])].filter(
    (path) => !kept.includes(path) || readFileSync(join(target, path), 'utf8') !== textByPath.get(path),
  )
  if (differing.length === 0) return
  console.error(`differ from what is generated: ${differing.join(', ')}`)
  process.exitCode = 1
}
