// Sums self times of CPU profiles: `node bench/profile.mjs <file.cpuprofile | folder>...`
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const TOP = 30
const NOT_WORK = new Set(['(idle)', '(program)', '(root)'])

/**
 * Self time in µs by function, most first. The sampler's `(program)` (native code, the kernel) stays, idle time does not.
 * @param {{ nodes: { id: number, callFrame: { functionName: string, url: string, lineNumber: number } }[], samples: number[], timeDeltas: number[] }} profile
 */
export function selfTimes({ nodes, samples, timeDeltas }) {
  const nodeById = new Map(nodes.map((node) => [node.id, node]))
  const microsByPlace = new Map()
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = nodeById.get(id).callFrame
    if (functionName === '(idle)' || functionName === '(root)') continue
    const place = NOT_WORK.has(functionName)
      ? functionName
      : `${functionName || '(anonymous)'} ${where(url, lineNumber)}`
    microsByPlace.set(place, (microsByPlace.get(place) ?? 0) + (timeDeltas[index] ?? 0))
  }
  return [...microsByPlace].map(([place, micros]) => ({ place, micros })).toSorted((a, b) => b.micros - a.micros)
}

function renderProfile(name, profile) {
  const times = selfTimes(profile)
  const total = times.reduce((sum, { micros }) => sum + micros, 0)
  const lines = times
    .slice(0, TOP)
    .map(
      ({ place, micros }) =>
        `${((micros / total) * 100).toFixed(1).padStart(5)}%  ${(micros / 1000).toFixed(0).padStart(6)} ms  ${place}`,
    )
  return `${name}: ${(total / 1000).toFixed(0)} ms busy\n${lines.join('\n')}`
}

/** Prints every profile found, the busiest first (each thread writes one). */
export function printProfiles(paths) {
  const files = paths.flatMap((path) =>
    statSync(path).isDirectory()
      ? readdirSync(path).flatMap((name) => (name.endsWith('.cpuprofile') ? [join(path, name)] : []))
      : [path],
  )
  const profiles = files.map((file) => ({ file, profile: JSON.parse(readFileSync(file, 'utf8')) }))
  const busy = ({ profile }) => selfTimes(profile).reduce((sum, { micros }) => sum + micros, 0)
  for (const { file, profile } of profiles.toSorted((a, b) => busy(b) - busy(a))) {
    console.log(`${renderProfile(file, profile)}\n`)
  }
  if (files.length === 0) console.log('no profile was written: did the program end by itself?')
}

function where(url, lineNumber) {
  if (!url) return '(native)'
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  const project = resolve(import.meta.dirname, '..')
  return `${path.startsWith(project) ? path.slice(project.length + 1) : path}:${lineNumber + 1}`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) printProfiles(process.argv.slice(2))
