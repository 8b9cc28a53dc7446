import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Optimistic concurrency with the classes of the JDK: miniapi run -- java Conflict.java
 *
 * <p>It shows what the clients of Kubernetes for Java send. They find the server in the same way, by
 * the environment variable KUBECONFIG: miniapi run -- mvn test
 */
public class Conflict {
    private static final String CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

    private final HttpClient client = HttpClient.newHttpClient();
    private final String server;

    Conflict(String server) {
        this.server = server;
    }

    public static void main(String[] args) throws Exception {
        String kubeconfig = Files.readString(Path.of(System.getenv("KUBECONFIG")));
        new Conflict(find("server: (\\S+)", kubeconfig)).run();
    }

    private void run() throws IOException, InterruptedException {
        String settings = CONFIG_MAPS + "/settings";
        HttpResponse<String> created = send("POST", CONFIG_MAPS,
            "{\"metadata\": {\"name\": \"settings\"}, \"data\": {\"color\": \"red\"}}");
        require(201, created);
        require(200, send("PUT", settings, withColor(created.body(), "green")));

        HttpResponse<String> stale = send("PUT", settings, withColor(created.body(), "blue"));
        require(409, stale);
        System.out.println("conflict: " + find("\"message\":\"(.*?[^\\\\])\"", stale.body()));

        HttpResponse<String> retried;
        do { // start from the latest version
            retried = send("PUT", settings, withColor(send("GET", settings, null).body(), "blue"));
        } while (retried.statusCode() == 409);
        require(200, retried);
        System.out.println("stored: " + find("\"color\":\"(\\w+)\"", retried.body()));
    }

    private HttpResponse<String> send(String method, String path, String body)
            throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server + path))
            .header("Content-Type", "application/json")
            .method(method, body == null
                ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body))
            .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    /** Returns the object, which has its resourceVersion, with another value. */
    private static String withColor(String configMap, String color) {
        return configMap.replaceFirst("\"color\":\"\\w+\"", "\"color\":\"" + color + "\"");
    }

    private static void require(int status, HttpResponse<String> response) {
        if (response.statusCode() != status) {
            throw new IllegalStateException(response.statusCode() + ": " + response.body());
        }
    }

    private static String find(String pattern, String text) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        if (!matcher.find()) {
            throw new IllegalStateException("no " + pattern + " in " + text);
        }
        return matcher.group(1);
    }
}
