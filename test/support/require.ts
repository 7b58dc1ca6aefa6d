/**
 * Whether something that npm cannot supply (a real S3 store, Redis, a mount) is to be had on this machine. When it is
 * not, the suite says so by name, with what would bring it (the test runner collects these lines), unless
 * ATRIUM_TEST_REQUIRE names it: then it fails.
 */
export const available = async (
  name: string,
  check: () => Promise<boolean> | boolean,
  installHint: string,
): Promise<boolean> => {
  if (await check()) return true
  const line = `left out: ${name} (to run it: ${installHint})`
  const required = (process.env['ATRIUM_TEST_REQUIRE'] ?? '').split(',').map((one) => one.trim())
  if (required.includes(name)) throw new Error(`ATRIUM_TEST_REQUIRE names ${name}, but it would be ${line}`)
  console.log(line)
  return false
}
