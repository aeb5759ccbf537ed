import { type DoctorCheck, type DoctorFinding, fine, notChecked } from '../check.ts'

const ABOUT = 'clock'
/** The largest clock error without a finding, in seconds. Servers usually accept tokens with a difference of a minute. */
const MOST_SECONDS = 30

/** Checks that the clock of this machine is right. */
export const clock: DoctorCheck = {
  name: 'clock',
  summary: 'the clock is right, by the Date of a server (--time-from)',
  async run({ timeFrom, now, timeoutMs }) {
    if (timeFrom === null) return [notChecked(ABOUT, 'no server to compare with: name one with --time-from <url>')]
    const { origin } = new URL(timeFrom)
    try {
      const response = await fetch(timeFrom, {
        ...{ method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) },
      })
      const date = Date.parse(response.headers.get('date') ?? '')
      if (Number.isNaN(date)) return [notChecked(ABOUT, `${origin} sends no Date`)]
      return [findingOf(Math.round((now() - date) / 1000), origin)]
    } catch {
      return [notChecked(ABOUT, `${origin} does not answer`)]
    }
  },
}

function findingOf(seconds: number, origin: string): DoctorFinding {
  if (Math.abs(seconds) <= MOST_SECONDS) return fine(ABOUT, `differs from ${origin} by ${Math.abs(seconds)} s`)
  return {
    ...{
      status: 'problem',
      about: ABOUT,
      finding: `is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} ${origin}`,
    },
    why: 'Tokens and certificates seem to be not yet valid, or no longer; signatures for AWS are refused.',
    fix: 'Synchronize the clock: `timedatectl set-ntp true`, or start chrony.',
  }
}
