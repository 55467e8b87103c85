import java.util.LinkedList
import java.util.concurrent.TimeUnit
import stubs.AndroidStubs.*

/** The time of the app's first release with the library, which the article leaves to the app. */
const val FIRST_RELEASE_MILLIS = 0L

/**
 * Uses `AfterlinkAdapter` of the article as an app does, and ends when two links have come: the one that opened the app,
 * and the one of the first launch. The arguments are the server, a folder, and the codes that Play reports.
 */
fun main(arguments: Array<String>) {
    InstallReferrerClient.codes = LinkedList(arguments.drop(2))
    val adapter = AfterlinkAdapter(Context(java.io.File(arguments[1])), arguments[0], "app_test")
    adapter.opened(Intent("myapp://old", Intent.FLAG_ACTIVITY_LAUNCHED_FROM_HISTORY))
    adapter.opened(Intent(null, 0))
    adapter.opened(Intent("myapp://opened", 0))
    adapter.start { link -> println("link $link") }
    for (number in 1..2) Looper.main.poll(180, TimeUnit.SECONDS)?.run() ?: println("no link $number")
    println("open ${InstallReferrerClient.openCount}")
    // The test ends the process, because the event is sent on a thread of the adapter.
    adapter.track("level_up", "id-1")
}
