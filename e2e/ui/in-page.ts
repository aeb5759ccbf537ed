import type { Page } from 'playwright-core'

/** Measurements inside of a page. The scripts are texts, because the types of browsers are not loaded in tests. */

/**
 * Returns controls that cannot be used: outside of the window, cut off, or covered. Each control is scrolled into
 * view first: vertically in any container, horizontally only in containers that can be scrolled by keyboard.
 */
export function clippedControls(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(FIND_CLIPPED)
}

/** Boxes of the map that stand over each other. */
export function overlaps(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(FIND_OVERLAPS)
}

// Two kinds of elements are left out: people move the canvas of the map, and the skip link shows when it has the focus.
const FIND_CLIPPED = `(() => {
  const found = []
  function* ancestorsOf(element) {
    for (let each = element.parentElement; each !== null; each = each.parentElement) yield each
  }
  const scrolled = [...document.querySelectorAll('*')]
    .filter((each) => each.scrollLeft !== 0 || each.scrollTop !== 0)
    .map((each) => [each, each.scrollLeft, each.scrollTop])
  for (const control of document.querySelectorAll('button, a[href], input, select, textarea')) {
    if (control.closest('.react-flow__viewport, .skip, .visually-hidden, [inert]') !== null) continue
    if (!control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue
    control.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    const { left, right, top, bottom, width, height } = control.getBoundingClientRect()
    if (width < 2 || height < 2) continue
    const aside = [...ancestorsOf(control)].find((each) => each.scrollLeft !== 0 && each.tabIndex < 0)
    const label = control.getAttribute('aria-label') ?? control.textContent.trim()
    const name = control.tagName.toLowerCase() + ' ' + label.slice(0, 40)
    const style = getComputedStyle(control)
    const middle = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
    if (aside !== undefined) {
      found.push(name + ': beyond an edge of ' + aside.className)
      aside.scrollLeft = 0
    } else if (left < -1 || right > innerWidth + 1) found.push(name + ': beyond an edge, ' + left + ' to ' + right)
    else if (middle === null || !(control.contains(middle) || middle.contains(control)))
      found.push(name + ': beneath ' + (middle?.outerHTML.slice(0, 80) ?? 'nothing'))
    else if (control.tagName === 'BUTTON' && control.scrollWidth > control.clientWidth + 1 && style.display !== 'inline')
      if (style.textOverflow !== 'ellipsis') found.push(name + ': cut to ' + control.clientWidth + ' px')
  }
  for (const [each, x, y] of scrolled) each.scrollTo(x, y)
  return found
})()`

const FIND_OVERLAPS = `(() => {
  const boxes = [...document.querySelectorAll('.map-box')].map((box) => [box.textContent, box.getBoundingClientRect()])
  return boxes.flatMap(([text, one], index) =>
    boxes.slice(index + 1).flatMap(([other, two]) => {
      const isBeside = one.right <= two.left || two.right <= one.left
      return isBeside || one.bottom <= two.top || two.bottom <= one.top ? [] : [text + ' over ' + other]
    }),
  )
})()`
