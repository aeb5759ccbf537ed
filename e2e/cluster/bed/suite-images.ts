import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Image, shortName } from './kubelet/node-settings.ts'
import { GATEWAY_API } from './programs.ts'

/** Programs for the images that the manifests of the official suite name. */
export function suiteImages(): Record<string, Image> {
  const folder = join(GATEWAY_API, 'manifests')
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  const names = texts.flatMap((text) =>
    [...text.matchAll(/^\s*(?:- )?image:\s*"?([^\s"]+)/gm)].map(([, name = '']) => name),
  )
  return Object.fromEntries(names.map(shortName).map((name) => [name, programFor(name)]))
}

/** Its own server answers for all of its servers; a name server is only asked by tests of UDP. */
function programFor(name: string): Image {
  if (name.startsWith('echo-')) return { command: [join(GATEWAY_API, 'echo-basic')] }
  return { command: ['sleep', 'infinity'], ignoresArguments: true }
}
